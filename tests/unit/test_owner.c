// SPDX-License-Identifier: BSD-3-Clause
/* Who holds the claim of a process, and for how long. */
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "target/owner.h"

static int claim(struct error *e)
{
	*e = (struct error){0};
	return owner_claim(getpid(), e);
}

TEST(one_at_a_time)
{
	struct error e;
	int fd = claim(&e);

	CHECK(fd >= 0);
	CHECK_EQ(claim(&e), -1);
	CHECK_EQ(e.status, EXIT_FORBIDDEN);
	close(fd);
	fd = claim(&e);
	CHECK(fd >= 0);
	close(fd);
}

/* The holder ends while its child still has a copy of the descriptor, for a fifth of a second. */
TEST(copy_of_a_child)
{
	int subject = getpid(), status = -1, fd, pid = fork();
	struct error e;

	if (!pid) {
		fd = owner_claim(subject, &e);
		if (!fork()) {
			usleep(200000);
			_exit(0);
		}
		_exit(fd < 0);
	}
	waitpid(pid, &status, 0);
	CHECK_EQ(status, 0);
	fd = claim(&e);
	CHECK(fd >= 0);
	close(fd);
}

/* More are refused than a queue has room for. */
TEST(answered_now_and_then)
{
	struct error e;
	int fd = claim(&e), refused = 0;

	for (int i = 0; i < SOMAXCONN + 100; i++) {
		int other = claim(&e);

		refused += other < 0 && e.status == EXIT_FORBIDDEN;
		if (other >= 0)
			close(other);
		if (i % 100 == 0)
			owner_answer(fd);
	}
	CHECK_EQ(refused, SOMAXCONN + 100);
	close(fd);
}
