/* SPDX-License-Identifier: MIT */
/*
 * What machine this is: processor, architecture, kernel, hypervisor. Left out: everything that
 * tells one machine from its twin (host names, serial numbers, addresses). Sources: the formats of
 * /proc/cpuinfo in arch/NAME/kernel of Linux 6.18; Arm's part numbers in
 * arch/arm64/include/asm/cputype.h; hypervisor leaf 40000000h in Documentation/virt and in
 * vendors' interface descriptions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arch_cpuid.h"
#include "host/kernel_text.h"
#include "host/machine_parts.h"

static void copy(char *to, size_t bytes, const char *from)
{
	size_t n = strlen(from);

	if (n > bytes - 1)
		n = bytes - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

/* Arm processors have numbers instead of names. Those that servers and boards use. */
static const struct {
	unsigned implementer, part;
	const char *name;
} arm_parts[] = {
	{ 0x41, 0xd03, "Arm Cortex-A53" },    { 0x41, 0xd05, "Arm Cortex-A55" },
	{ 0x41, 0xd07, "Arm Cortex-A57" },    { 0x41, 0xd08, "Arm Cortex-A72" },
	{ 0x41, 0xd09, "Arm Cortex-A73" },    { 0x41, 0xd0b, "Arm Cortex-A76" },
	{ 0x41, 0xd0c, "Arm Neoverse N1" },   { 0x41, 0xd40, "Arm Neoverse V1" },
	{ 0x41, 0xd49, "Arm Neoverse N2" },   { 0x41, 0xd4f, "Arm Neoverse V2" },
	{ 0x41, 0xd84, "Arm Neoverse V3" },   { 0x41, 0xd8e, "Arm Neoverse N3" },
	{ 0x43, 0x0a1, "Cavium ThunderX" },   { 0x43, 0x0af, "Cavium ThunderX2" },
	{ 0x46, 0x001, "Fujitsu A64FX" },     { 0x48, 0xd01, "HiSilicon TSV110" },
	{ 0x61, 0x022, "Apple M1 Icestorm" }, { 0x61, 0x023, "Apple M1 Firestorm" },
	{ 0xc0, 0xac3, "Ampere-1" },          { 0xc0, 0xac4, "Ampere-1a" },
};

static const struct {
	unsigned implementer;
	const char *name;
} arm_vendors[] = {
	{ 0x41, "Arm" },    { 0x43, "Cavium" },   { 0x46, "Fujitsu" }, { 0x48, "HiSilicon" },
	{ 0x4e, "NVIDIA" }, { 0x51, "Qualcomm" }, { 0x61, "Apple" },   { 0xc0, "Ampere" },
};

static unsigned long hex_field(const char *cpuinfo, const char *key)
{
	char word[32];

	if (ktext_field(cpuinfo, key, word, sizeof(word)) < 0)
		return 0;
	return strtoul(word, NULL, 0);
}

static void name_arm(struct machine *m, const char *cpuinfo)
{
	unsigned long implementer = hex_field(cpuinfo, "CPU implementer");
	unsigned long part = hex_field(cpuinfo, "CPU part");

	if (!implementer)
		return;
	for (size_t i = 0; i < sizeof(arm_vendors) / sizeof(arm_vendors[0]); i++)
		if (arm_vendors[i].implementer == implementer)
			copy(m->vendor, sizeof(m->vendor), arm_vendors[i].name);
	if (!m->vendor[0])
		snprintf(m->vendor, sizeof(m->vendor), "implementer 0x%lx", implementer);
	if (m->model[0])
		return;
	for (size_t i = 0; i < sizeof(arm_parts) / sizeof(arm_parts[0]); i++)
		if (arm_parts[i].implementer == implementer && arm_parts[i].part == part)
			copy(m->model, sizeof(m->model), arm_parts[i].name);
	if (!m->model[0])
		snprintf(m->model, sizeof(m->model), "%s part 0x%lx", m->vendor, part);
}

static void first_field(const char *cpuinfo, const char *const *keys, char *buf, size_t bytes)
{
	for (; *keys && !buf[0]; keys++)
		if (ktext_field(cpuinfo, *keys, buf, bytes) < 0)
			buf[0] = '\0';
}

static void read_processor(struct machine *m, const char *cpuinfo)
{
	/* x86 and LoongArch, RISC-V, POWER, s390 and MIPS. */
	static const char *const model_keys[] = { "model name", "Model Name", "uarch",
						  "cpu",        "cpu model",  NULL };
	static const char *const vendor_keys[] = { "vendor_id", "mvendorid", NULL };

	first_field(cpuinfo, model_keys, m->model, sizeof(m->model));
	first_field(cpuinfo, vendor_keys, m->vendor, sizeof(m->vendor));
	name_arm(m, cpuinfo);
}

/* Recorded trees of kernels before 6.1 do not say the architecture in words. */
static const char *guess_arch(const char *cpuinfo)
{
	char word[64];

	if (ktext_has_word(cpuinfo, "flags", "lm"))
		return "x86_64";
	if (ktext_field(cpuinfo, "flags", word, 0) == -EMSGSIZE)
		return "i686";
	if (ktext_field(cpuinfo, "CPU architecture", word, sizeof(word)) == 0)
		return strcmp(word, "8") ? "arm" : "aarch64";
	if (ktext_field(cpuinfo, "isa", word, sizeof(word)) == 0)
		return strncmp(word, "rv32", 4) ? "riscv64" : "riscv32";
	if (ktext_field(cpuinfo, "cpu", word, sizeof(word)) == 0 && !strncmp(word, "POWER", 5))
		return "ppc64le";
	return "";
}

static void read_kernel(const struct sysroot *sr, struct machine *m, const char *cpuinfo)
{
	struct utsname u;

	if (sr->is_live && uname(&u) == 0) {
		copy(m->arch, sizeof(m->arch), u.machine);
		copy(m->kernel, sizeof(m->kernel), u.release);
		return;
	}
	if (sysroot_read_line(sr, "proc/sys/kernel/arch", m->arch, sizeof(m->arch), NULL) < 0)
		copy(m->arch, sizeof(m->arch), guess_arch(cpuinfo));
	if (sysroot_read_line(sr, "proc/sys/kernel/osrelease", m->kernel, sizeof(m->kernel), NULL) <
	    0)
		m->kernel[0] = '\0';
}

/* What a hypervisor writes into its CPUID leaf, and how people call it. */
static const struct {
	const char *signature, *name;
} hypervisors[] = {
	{ "KVMKVMKVM", "KVM" },           { "Linux KVM Hv", "KVM" },
	{ "TCGTCGTCGTCG", "QEMU" },       { "VMwareVMware", "VMware" },
	{ "Microsoft Hv", "Hyper-V" },    { "XenVMMXenVMM", "Xen" },
	{ "bhyve bhyve ", "bhyve" },      { "ACRNACRNACRN", "ACRN" },
	{ "VBoxVBoxVBox", "VirtualBox" }, { " lrpepyh  vr", "Parallels" },
};

static void ask_cpuid(struct machine *m)
{
	uint32_t regs[4];
	char signature[13] = "";

	if (!arch_has_cpuid())
		return;
	arch_cpuid(1, 0, regs);
	if (!(regs[2] >> 31))
		return;
	arch_cpuid(0x40000000, 0, regs);
	memcpy(signature, &regs[1], 12);
	copy(m->hypervisor, sizeof(m->hypervisor), "guest");
	for (size_t i = 0; i < sizeof(hypervisors) / sizeof(hypervisors[0]); i++)
		if (!strncmp(signature, hypervisors[i].signature, strlen(hypervisors[i].signature)))
			copy(m->hypervisor, sizeof(m->hypervisor), hypervisors[i].name);
}

/* Firmware's names, for architectures without CPUID and for recorded trees. */
static void ask_firmware(const struct sysroot *sr, struct machine *m)
{
	static const struct {
		const char *path, *part, *name;
	} marks[] = {
		{ "sys/hypervisor/type", "xen", "Xen" },
		{ "proc/device-tree/hypervisor/compatible", "linux,kvm", "KVM" },
		{ "proc/device-tree/hypervisor/compatible", "xen", "Xen" },
		{ "sys/class/dmi/id/product_name", "KVM", "KVM" },
		{ "sys/class/dmi/id/sys_vendor", "QEMU", "KVM or QEMU" },
		{ "sys/class/dmi/id/product_name", "VMware", "VMware" },
		{ "sys/class/dmi/id/product_name", "VirtualBox", "VirtualBox" },
		{ "sys/class/dmi/id/product_name", "Google Compute Engine", "KVM" },
	};
	char line[128];

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (sysroot_read_line(sr, marks[i].path, line, sizeof(line), NULL) == 0 &&
		    strstr(line, marks[i].part)) {
			copy(m->hypervisor, sizeof(m->hypervisor), marks[i].name);
			return;
		}
	}
}

static void read_hypervisor(const struct sysroot *sr, struct machine *m, const char *cpuinfo)
{
	/* Xen's privileged domain has the flag and the files too: it is a guest as well. */
	if (sr->is_live)
		ask_cpuid(m);
	else if (ktext_has_word(cpuinfo, "flags", "hypervisor"))
		copy(m->hypervisor, sizeof(m->hypervisor), "guest");
	if (!m->hypervisor[0] || !strcmp(m->hypervisor, "guest"))
		ask_firmware(sr, m);
}

int machine_read_identity(const struct sysroot *sr, struct machine *m, struct err *e)
{
	char *cpuinfo;
	int rc;

	rc = sysroot_read(sr, "proc/cpuinfo", &cpuinfo, NULL, NULL);
	if (rc == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for /proc/cpuinfo");
	if (rc < 0)
		cpuinfo = NULL;
	read_processor(m, cpuinfo ? cpuinfo : "");
	read_kernel(sr, m, cpuinfo ? cpuinfo : "");
	read_hypervisor(sr, m, cpuinfo ? cpuinfo : "");
	free(cpuinfo);
	return 0;
}
