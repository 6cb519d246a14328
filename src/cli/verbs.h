/* SPDX-License-Identifier: MIT */
/* The verbs, each defined in cmd_VERB.c. */
#ifndef PAGETOLL_CLI_VERBS_H
#define PAGETOLL_CLI_VERBS_H

#include "cli/cli.h"

extern const struct verb verb_run;
extern const struct verb verb_ab;
extern const struct verb verb_predict;
extern const struct verb verb_calibrate;
extern const struct verb verb_profile;
extern const struct verb verb_list;
extern const struct verb verb_info;
extern const struct verb verb_show;
extern const struct verb verb_plot;
extern const struct verb verb_compare;
extern const struct verb verb_report;
extern const struct verb verb_history;
extern const struct verb verb_import;
extern const struct verb verb_export;
extern const struct verb verb_doctor;
extern const struct verb verb_completion;

#endif
