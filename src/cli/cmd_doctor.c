// SPDX-License-Identifier: MIT
/*
 * `pagetoll doctor`: what here disturbs or forbids measuring, each with its effect and remedy.
 */
#include "cli/recover.h"
#include "cli/verbs.h"

#include "base/escape.h"
#include "host/doctor.h"
#include "record/json.h"

static error_t parse_doctor(int key, char *arg, struct argp_state *state)
{
	return common_option(key, arg, state);
}

static int doctor_csv(const struct run *r)
{
	struct str out = { 0 };

	str_add(&out, "id,severity,what,effect,remedy\n");
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->findings[i];
		const char *fields[] = { f->id, severity_name(f->severity), f->what, f->effect,
					 f->remedy };

		for (size_t k = 0; k < 5; k++) {
			escape_csv(&out, fields[k] ? fields[k] : "");
			str_add(&out, k < 4 ? "," : "\n");
		}
	}
	return cli_print_str(&out);
}

static int doctor_json(const struct run *r)
{
	json_t *findings = json_array();

	for (size_t i = 0; i < r->n_findings; i++)
		json_array_append_new(findings, json_from_finding(&r->findings[i]));
	return cli_print_json(json_pack("{s:o,s:o,s:o}", "fingerprint",
					json_from_attrs(&r->fingerprint), "context",
					json_from_attrs(&r->context), "findings", findings));
}

static int doctor_text(const struct common *c, const struct run *r)
{
	struct report_options o = cli_report_options(c);
	struct str out = { 0 };

	if (report_findings_text(&out, r, &o)) {
		str_done(&out);
		return cli_fail(c, CLI_FATAL, "cannot write the report: out of memory");
	}
	return cli_print_str(&out);
}

static int examine(const struct common *c, const struct sysroot *sr, const struct machine *m)
{
	struct run *r = run_new();
	struct err e = { 0 };
	int rc;

	if (!r)
		return cli_fail(c, CLI_FATAL, "out of memory");
	/* First: nothing else is so surely not meant. */
	if (!c->sysroot)
		cli_name_left_settings(c, r);
	if (doctor_examine(sr, m, r, &e) || fingerprint_read(sr, m, r, &e))
		rc = cli_fail(c, CLI_FATAL, "%s", e.msg);
	else if (c->format == FORMAT_JSON)
		rc = doctor_json(r);
	else
		rc = c->format == FORMAT_CSV ? doctor_csv(r) : doctor_text(c, r);
	run_free(r);
	return rc;
}

static int run_doctor(const struct verb *v, int argc, char **argv)
{
	struct common c = { 0 };
	struct sysroot sr;
	struct machine m = { 0 };
	int rc;

	cli_parse(v, argc, argv, &c);
	cli_need_words(&c, 0, "");
	rc = cli_machine(&c, &sr, &m);
	if (rc)
		return rc;
	rc = examine(&c, &sr, &m);
	machine_done(&m);
	return rc;
}

static const struct argp_option doctor_options[] = {
	OPTION_FORMAT, OPTION_COLOR, OPTION_SYSROOT, OPTION_HELP, { 0 }
};
static const struct argp doctor_argp = {
	.options = doctor_options,
	.parser = parse_doctor,
	.doc = "Tell what on this machine disturbs or forbids measuring, what each does to which "
	       "numbers, and the exact remedy. Nothing is changed.",
};
const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "Tell what disturbs measuring here, with remedies",
	.operand = OPERAND_NONE,
	.argp = &doctor_argp,
	.run = run_doctor,
};
