/* SPDX-License-Identifier: Apache-2.0 */
/* Each kernel of this folder is two: with IS_WRONG the wrong one, without it the corrected twin, which differs in a line.
 *
 * Above a kernel stands what heddle check says of the wrong one:  find KIND: grid G, block B
 * A line of it ends in HERE where the finding must be. Of the twin it says nothing. */
#ifdef IS_WRONG
#define WRONG(...) __VA_ARGS__
#define RIGHT(...)
#else
#define WRONG(...)
#define RIGHT(...) __VA_ARGS__
#endif
