// SPDX-License-Identifier: MIT
/*
 * Doctor's findings as text: what is so, what it does to which numbers, and the remedy.
 */
#include "report/render.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *word;
	enum paint paint;
} severity_look[] = {
	[SEVERITY_NOTE] = { "note:", PAINT_BOLD },
	[SEVERITY_WARNING] = { "warning:", PAINT_YELLOW },
	[SEVERITY_BLOCKER] = { "blocker:", PAINT_RED },
};

/* One labelled paragraph of a finding; nothing for an absent text. */
static void part(struct str *out, const struct report_options *o, const char *head,
		 const char *text)
{
	struct arena a = { 0 };
	if (text && *text) {
		const char *clean = render_clean(&a, text, o->utf8, 2000);
		if (clean)
			render_paragraph(out, 2, head, clean);
		else
			out->failed = true;
	}
	arena_done(&a);
}

void render_finding(struct str *out, const struct finding *f, const struct report_options *o)
{
	struct arena a = { 0 };
	struct str text = { 0 };
	str_addf(&text, "%s (%s)", f->what ? f->what : "", f->id ? f->id : "no id");
	const char *clean = render_clean(&a, str_text(&text), o->utf8, 2000);
	if (clean) {
		render_paint(out, o, severity_look[f->severity].paint,
			     severity_look[f->severity].word);
		str_add(out, " ");
		render_wrap(out, clean, strlen(severity_look[f->severity].word) + 1, 2,
			    RENDER_WIDTH);
	} else {
		out->failed = true;
	}
	part(out, o, "effect: ", f->effect);
	part(out, o, "remedy: ", f->remedy);
	str_done(&text);
	arena_done(&a);
}

int report_findings_text(struct str *out, const struct run *r, const struct report_options *o)
{
	size_t n[SEVERITY_BLOCKER + 1] = { 0 };
	for (int s = SEVERITY_BLOCKER; s >= SEVERITY_NOTE; s--) {
		for (size_t i = 0; i < r->n_findings; i++) {
			if ((int)r->findings[i].severity != s)
				continue;
			if (n[SEVERITY_NOTE] + n[SEVERITY_WARNING] + n[SEVERITY_BLOCKER])
				str_add(out, "\n");
			render_finding(out, &r->findings[i], o);
			n[s]++;
		}
	}
	if (!r->n_findings)
		str_add(out, "Nothing found that disturbs or forbids measuring.\n");
	else
		str_addf(out, "\n%zu blocker%s, %zu warning%s, %zu note%s\n", n[SEVERITY_BLOCKER],
			 n[SEVERITY_BLOCKER] == 1 ? "" : "s", n[SEVERITY_WARNING],
			 n[SEVERITY_WARNING] == 1 ? "" : "s", n[SEVERITY_NOTE],
			 n[SEVERITY_NOTE] == 1 ? "" : "s");
	return out->failed ? -ENOMEM : 0;
}
