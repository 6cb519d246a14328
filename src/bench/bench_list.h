/* SPDX-License-Identifier: MIT */
/* Every benchmark, sorted by name (a test checks: sorted, unique, complete, documented). */
#ifndef PAGETOLL_BENCH_BENCH_LIST_H
#define PAGETOLL_BENCH_BENCH_LIST_H

#define BENCH_LIST(X)           \
	X(cache_chase)          \
	X(exec_patches)         \
	X(exec_storm)           \
	X(fault_anon)           \
	X(fault_file)           \
	X(fault_shm)            \
	X(fork_call)            \
	X(fork_cow)             \
	X(fork_unmap)           \
	X(mem_gups)             \
	X(migration_cost)       \
	X(syscall_fault)        \
	X(syscall_forkexit)     \
	X(syscall_gettimeofday) \
	X(syscall_null)         \
	X(syscall_openclose)    \
	X(syscall_pid)          \
	X(syscall_time)         \
	X(tables_shared)        \
	X(tlb_chase)            \
	X(tlb_walk)

#endif
