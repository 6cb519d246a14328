# SPDX-License-Identifier: MIT
# Writes golden_two_sample.h: expected values of R. By hand, the tests do not need it:
#   Rscript make_golden_two_sample.R > golden_two_sample.h
# R has no exact rank test with ties: those are counted here over all divisions. Its poisson.test()
# has the limits; p doubles the smaller tail of pbinom(), while R sums the less likely outcomes.
set.seed(19470301)

number <- function(v) {
	ifelse(is.na(v), "NAN", ifelse(is.infinite(v), "INFINITY", {
		text <- sprintf("%.17g", v)
		ifelse(grepl("[.e]", text), text, paste0(text, ".0"))
	}))
}
row <- function(v) paste0("{ ", paste(number(v), collapse = ", "), " }")
line <- function(...) cat("\t{ ", paste(..., sep = ", "), " },\n", sep = "")

counted_p <- function(a, b) {
	ranks <- rank(c(a, b))
	mean <- length(a) * (length(ranks) + 1) / 2
	sums <- colSums(combn(length(ranks), length(a), function(i) ranks[i], simplify = TRUE) |>
		matrix(nrow = length(a)))
	mean(abs(sums - mean) >= abs(sum(ranks[seq_along(a)]) - mean) - 1e-9)
}

cat("/* SPDX-License-Identifier: MIT */\n/*\n * Expected values for test_two_sample.c, written by",
	" make_golden_two_sample.R with R ", as.character(getRversion()), ".\n */\n", sep = "")
cat("#ifndef PAGETOLL_TESTS_GOLDEN_TWO_SAMPLE_H\n#define PAGETOLL_TESTS_GOLDEN_TWO_SAMPLE_H\n\n")
cat("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n")

cat("/* source: 'x' wilcox.test() exact, 't' counted with ties, 'n' wilcox.test() normal */\n")
cat("struct golden_rank_test {\n\tchar source;\n\tsize_t n_a, n_b;\n\tdouble a[60], b[60];\n",
	"\tdouble p;\n};\n", sep = "")
cat("static const struct golden_rank_test golden_rank_tests[] = {\n")
for (g in list(c(1, 1, 0), c(2, 3, .5), c(4, 4, 3), c(5, 5, 1), c(6, 9, .3), c(10, 10, .8),
	c(20, 15, .4), c(8, 24, .6), c(50, 50, .2))) {
	a <- round(rnorm(g[1]), 6)
	b <- round(rnorm(g[2], g[3]), 6)
	stopifnot(!anyDuplicated(c(a, b)))
	line("'x'", g[1], g[2], row(a), row(b), number(wilcox.test(a, b, exact = TRUE)$p.value))
}
for (g in list(c(3, 3, 1, 1), c(5, 5, 1, 1), c(4, 9, 1, 2), c(8, 8, .7, 1), c(10, 6, 0, 3),
	c(2, 12, 1, 2), c(9, 9, 1, .5))) {
	a <- round(rnorm(g[1]) / g[4]) * g[4]
	b <- round(rnorm(g[2], g[3]) / g[4]) * g[4]
	line("'t'", g[1], g[2], row(a), row(b), number(counted_p(a, b)))
}
for (g in list(c(55, 50, .3, 6), c(60, 60, .2, 0), c(60, 45, .5, 1))) {
	a <- round(rnorm(g[1]), g[4])
	b <- round(rnorm(g[2], g[3]), g[4])
	line("'n'", g[1], g[2], row(a), row(b),
		number(wilcox.test(a, b, exact = FALSE, correct = TRUE)$p.value))
}
cat("};\n\n")

cat("struct golden_shift {\n\tsize_t n_a, n_b;\n\tdouble level, a[24], b[24];\n",
	"\tdouble difference, low, high, ratio, ratio_low, ratio_high;\n};\n", sep = "")
cat("static const struct golden_shift golden_shifts[] = {\n")
for (g in list(c(3, 3, .95), c(4, 4, .95), c(5, 5, .95), c(5, 5, .99), c(6, 10, .95),
	c(10, 10, .9), c(15, 24, .95), c(2, 20, .95))) {
	a <- round(rlnorm(g[1], 1, .2), 4)
	b <- round(rlnorm(g[2], 1.1, .2), 4)
	# With too few values R gives all that there is and warns; here there is none.
	none <- qwilcox((1 - g[3]) / 2, g[1], g[2]) == 0
	shift <- function(x, y) {
		t <- suppressWarnings(wilcox.test(x, y, exact = TRUE, conf.int = TRUE,
			conf.level = g[3]))
		c(t$estimate, if (none) c(NA, NA) else t$conf.int)
	}
	line(g[1], g[2], number(g[3]), row(a), row(b),
		paste(number(c(shift(b, a), exp(shift(log(b), log(a))))), collapse = ", "))
}
cat("};\n\n")

cat("struct golden_rate {\n\tint64_t a, b;\n\tdouble exposure_a, exposure_b, level, low, high, p;\n",
	"};\n", sep = "")
cat("static const struct golden_rate golden_rates[] = {\n")
for (g in list(c(10, 100, 20, 100, .95), c(3, 1000, 0, 500, .95), c(0, 5, 7, 5, .95),
	c(1, 1, 1, 1, .95), c(120, 3, 90, 2, .99), c(5000, 1e6, 5300, 1e6, .95),
	c(2, 1e9, 900000, 1e9, .95), c(100000, 7, 100000, 7, .9), c(400, 1e-3, 3, 1e-3, .95),
	c(322, 1, 563, 1, .95), c(265, 1, 417, 1, .95), c(999999, 1, 1000500, 1, .95))) {
	t <- poisson.test(c(g[3], g[1]), c(g[4], g[2]), conf.level = g[5])
	share <- g[4] / (g[2] + g[4])
	p <- min(1, 2 * min(pbinom(g[3], g[1] + g[3], share),
		pbinom(g[3] - 1, g[1] + g[3], share, lower.tail = FALSE)))
	line(sprintf("%.0f", g[1]), sprintf("%.0f", g[3]), number(g[2]), number(g[4]),
		number(g[5]), number(t$conf.int[1]), number(t$conf.int[2]), number(p))
}
cat("};\n\n")

cat("struct golden_adjust {\n\tsize_t n;\n\tdouble p[12], holm[12], bh[12];\n};\n")
cat("static const struct golden_adjust golden_adjusts[] = {\n")
for (n in c(1, 2, 5, 12)) {
	p <- round(runif(n, 0, .2), 4)
	if (n == 12) {
		p[4] <- p[1]
		p[8] <- 1
	}
	line(n, row(p), row(p.adjust(p, "holm")), row(p.adjust(p, "BH")))
}
cat("};\n\n")

cat("struct golden_normal {\n\tdouble p, quantile;\n};\n")
cat("static const struct golden_normal golden_normals[] = {\n")
for (p in c(1e-300, 1e-10, .001, .025, .3, .5, .9, .975, .9999))
	line(number(p), number(qnorm(p)))
cat("};\n\n#endif\n")
