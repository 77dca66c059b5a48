-- SPDX-License-Identifier: BSD-3-Clause
-- For wrk: clients that think for 60 ms between two requests.
function delay()
	return 60
end
