/* SPDX-License-Identifier: MIT */
/*
 * Files of described machines: what is accepted can be written, is read back the same, and takes
 * references; what is refused says why.
 */
#include "fuzz.h"

#include "sim/sim.h"

static void use(const struct sim_machine *m)
{
	const struct sim_space space = { 0 };
	struct err e = { 0 };
	uint64_t bytes = 0;
	struct sim *s;

	for (size_t i = 0; i < m->n_caches; i++)
		bytes += m->caches[i].size_bytes / m->caches[i].line_bytes;
	if (bytes > 1 << 20) /* legal, but slow to make */
		return;
	if (sim_new(m, &space, 1, &s, &e) < 0) {
		CHECK(e.msg[0]);
		return;
	}
	for (uint64_t i = 0; i < 64; i++) {
		const uint64_t va = (UINT64_C(1) << 30) + i * i * 4096;

		sim_run(s, &va, 1);
	}
	CHECK(sim_counts(s)->refs == 64);
	sim_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_machine *m = NULL, *again = NULL;
	struct str text = { 0 };
	struct err e = { 0 };

	if (sim_machine_read((const char *)data, size, &m, &e) < 0) {
		CHECK(e.code && e.msg[0]);
		CHECK(!m);
		return 0;
	}
	CHECK(sim_machine_text(&text, m) == 0);
	CHECK(sim_machine_read(str_text(&text), text.len, &again, &e) == 0);
	CHECK(again->n_origins == m->n_origins);
	use(m);
	str_done(&text);
	sim_machine_free(again);
	sim_machine_free(m);
	return 0;
}
