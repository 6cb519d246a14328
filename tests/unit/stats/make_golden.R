# SPDX-License-Identifier: MIT
# Writes golden_stats.h: expected values of R. By hand, the tests do not need it:
#   Rscript make_golden.R > golden_stats.h
# Quantiles are of R's type 7. Non-negative least squares are not in R: make_golden_nnls.py.
set.seed(20050101)

number <- function(v) {
	text <- sprintf("%.17g", v)
	ifelse(grepl("[.e]", text), text, paste0(text, ".0"))
}
row <- function(v) paste0("{ ", paste(number(v), collapse = ", "), " }")
line <- function(...) cat("\t{ ", paste(..., sep = ", "), " },\n", sep = "")

cat("/* SPDX-License-Identifier: MIT */\n/*\n * Expected values for test_quantiles.c, written by",
	" make_golden.R with R ", as.character(getRversion()), ".\n */\n", sep = "")
cat("#ifndef PAGETOLL_TESTS_GOLDEN_STATS_H\n#define PAGETOLL_TESTS_GOLDEN_STATS_H\n\n")
cat("#include <stddef.h>\n\n")

cat("struct golden_quantile {\n\tsize_t n;\n\tdouble x[40];\n",
	"\tdouble q0, q05, q25, q50, q90, q100, mad;\n};\n", sep = "")
cat("static const struct golden_quantile golden_quantiles[] = {\n")
for (n in c(1, 2, 3, 4, 5, 7, 10, 33, 40)) {
	x <- round(rlnorm(n, 1, 1), 3)
	if (n == 10)
		x[4:7] <- x[4] # ties
	line(n, row(x), paste(number(c(quantile(x, c(0, .05, .25, .5, .9, 1), type = 7),
		mad(x, constant = 1.4826))), collapse = ", "))
}
cat("};\n\n")

cat("/* rank: the lower end of the interval is the rank-th smallest value; 0: none. */\n")
cat("struct golden_rank {\n\tsize_t n;\n\tdouble level;\n\tsize_t rank;\n\tdouble coverage;\n};\n")
cat("static const struct golden_rank golden_ranks[] = {\n")
for (level in c(.5, .9, .95, .99)) {
	for (n in c(1, 2, 5, 6, 7, 8, 9, 10, 16, 17, 30, 100, 999, 3000)) {
		k <- seq_len(n %/% 2)
		cover <- 1 - 2 * pbinom(k - 1, n, .5)
		best <- sum(cover >= level)
		line(n, number(level), best, number(if (best) cover[best] else 0))
	}
}
cat("};\n\n#endif\n")
