// SPDX-License-Identifier: BSD-3-Clause
/* Ends the reading of debug information early; see stop.h. */
#include "symbols/dwarf/stop.h"

#include "symbols/symbols.h"

#define PIECE 65536 /* less than a millisecond */

static bool (*stop_wanted)(void);

void reading_stops_when(bool (*wanted)(void))
{
	stop_wanted = wanted;
}

bool reading_stopped(unsigned *work, unsigned n)
{
	*work += n;
	if (*work < PIECE)
		return false;
	*work = 0;
	return stop_wanted && stop_wanted();
}
