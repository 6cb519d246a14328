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

/* Whether the run has what was asked for: 0, or the exit status, said. */
static int check_choice(const struct common *c, const struct report *rep, bool card,
			const struct report_options *o)
{
	struct err e = { 0 };

	if (card && c->format == FORMAT_TEXT && !report_has_toll_card(rep))
		return cli_fail(c, CLI_USAGE, "this run has no toll card: pagetoll show %s",
				o->run_name ? o->run_name : "last");
	for (size_t i = 0; i < o->n_metrics; i++)
		if (report_find_metric(rep, o->metrics[i], &e))
			return cli_fail(c, CLI_USAGE, "%s", e.msg);
	return 0;
}

int cli_render_run(const struct common *c, const struct run *r, const struct render_choice *choice,
		   const char *name, const char *path)
{
	bool card = choice && choice->card;
	struct report_options o = cli_report_options(c);
	struct report rep = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };
	int rc;

	o.run_name = name;
	o.file = path;
	if (report_init(&rep, r, &e))
		return cli_fail(c, CLI_FATAL, "cannot evaluate the run: %s", e.msg);
	if (choice && choice->n_metrics) {
		o.metrics = choice->metrics;
		o.n_metrics = choice->n_metrics;
	}
	rc = check_choice(c, &rep, card, &o);
	if (rc) {
		report_done(&rep);
		return rc;
	}
	rc = render(&out, c, &rep, card, &o);
	report_done(&rep);
	if (rc) {
		str_done(&out);
		return cli_fail(c, CLI_FATAL, "cannot write the report: out of memory");
	}
	return cli_print_str(&out);
}
