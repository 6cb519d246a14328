/* SPDX-License-Identifier: MIT */
/* The script and the style of the page, built from web/, and the policy that allows only them. */
#ifndef PAGETOLL_REPORT_PAGE_BUNDLE_H
#define PAGETOLL_REPORT_PAGE_BUNDLE_H

#include <stddef.h>

extern const unsigned char page_script[], page_style[];
extern const size_t page_script_bytes, page_style_bytes;
extern const char page_policy[]; /* Content-Security-Policy with the hashes of both */

#endif
