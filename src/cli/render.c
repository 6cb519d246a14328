// SPDX-License-Identifier: MIT
/* Chooses the renderer of report/ for a run; nothing is computed here. */
#include "cli/render.h"

static int render(struct str *out, const struct common *c, const struct report *rep, bool card,
		  const struct report_options *o)
{
	switch (c->format) {
	case FORMAT_JSON:
		return report_json(out, rep);
	case FORMAT_CSV:
		return report_csv(out, rep);
	case FORMAT_TEXT:
		break;
	}
	return card ? report_toll_card(out, rep, o) : report_text(out, rep, o);
}

int cli_render_run(const struct common *c, const struct run *r, bool card, const char *name,
		   const char *path)
{
	struct report_options o = cli_report_options(c);
	struct report rep = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };
	int rc;

	o.run_name = name;
	o.file = path;
	if (report_init(&rep, r, &e))
		return cli_fail(c, CLI_FATAL, "cannot evaluate the run: %s", e.msg);
	if (card && c->format == FORMAT_TEXT && !report_has_toll_card(&rep)) {
		report_done(&rep);
		return cli_fail(c, CLI_USAGE, "this run has no toll card: pagetoll show %s",
				name ? name : "last");
	}
	rc = render(&out, c, &rep, card, &o);
	report_done(&rep);
	if (rc) {
		str_done(&out);
		return cli_fail(c, CLI_FATAL, "cannot write the report: out of memory");
	}
	return cli_print_str(&out);
}
