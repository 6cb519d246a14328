/* SPDX-License-Identifier: MIT */
/*
 * Tables of comma-separated values: what is taken as a run is a run file that reads back whole;
 * what is refused is refused with a message and leaves nothing.
 */
#include <errno.h>

#include "fuzz.h"
#include "record/csv_run.h"
#include "record/runfile.h"
#include "record/runfile_text.h"

static void check_run(struct run *r)
{
	struct str text = { 0 };
	struct run *back = NULL;

	CHECK(runfile_text(&text, r, NULL) == 0);
	CHECK(runfile_load_buffer(str_text(&text), text.len, &back, NULL) == 0);
	CHECK(back->n_bad_lines == 0 && back->n_measures == r->n_measures);
	for (size_t i = 0; i < r->n_measures; i++)
		CHECK(attrs_equal(&r->measures[i].setting, &back->measures[i].setting));
	run_free(back);
	str_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct csv_pair columns[] = { { "k", "kind" } };
	static const struct csv_pair settings[] = { { "16k", "page" } };
	static const struct csv_metric metrics[] = { { "v", "v_ns", "ns", BETTER_LOWER, NULL, 0 },
						     { "w", "w", "count", BETTER_NONE, NULL, 0 } };
	const struct csv_mapping m = { .file = "t.csv",
				       .name = "t",
				       .source = "s",
				       .bench = "b",
				       .inner = { "n", "n" },
				       .columns = columns,
				       .n_columns = 1,
				       .settings = settings,
				       .n_settings = 1,
				       .metrics = metrics,
				       .n_metrics = 2 };
	struct str problems = { 0 };
	struct run *r = NULL;
	struct err e = { 0 };
	char *text = fuzz_text(data, size);
	int rc = csv_run(text, size, &m, &r, &problems, &e);

	if (rc == 0) {
		CHECK(r && problems.len == 0);
		check_run(r);
	} else {
		CHECK((rc == -EBADMSG || rc == -EINVAL) && !r && e.msg[0]);
	}
	run_free(r);
	str_done(&problems);
	free(text);
	return 0;
}
