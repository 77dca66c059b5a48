-- SPDX-License-Identifier: BSD-3-Clause
-- For wrk: clients that think for 240 ms between two requests. With 16 of them each worker has some:
-- all of four had the same one at times, and a worker that runs alone is asked for no pause.
function delay()
	return 240
end
