// SPDX-License-Identifier: MIT
/* What benchmarks start as /bin/true in a guest that has no other programs. */
int main(void)
{
	return 0;
}
