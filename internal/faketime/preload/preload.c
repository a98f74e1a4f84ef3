/*
 * Preloaded into a program, this gives it the wall clock that a mapped file describes, and notes in that file how much of
 * each file the program has fsynced. See the package documentation of faketime.
 * Monotonic clocks are left alone: timers go by them, and the kernel's cannot be changed.
 * The system calls are made directly: these functions may run before the C library is ready for anything else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FILES 255
#define BILLION 1000000000

struct shared {
	int64_t changes; /* of the next five, so far; odd during a change */
	int64_t since;   /* the reading of CLOCK_MONOTONIC at which the clocks got their rate */
	int64_t ahead;   /* nanoseconds by which they were ahead of it then */
	int64_t rate;    /* parts per billion by which they have been fast since */
	int64_t steps;   /* nanoseconds by which the wall clock was stepped */
	int64_t lost;    /* not used here: only the monotonic clock loses time */
	int64_t epoch;   /* what the wall clock reads when CLOCK_MONOTONIC reads 0 and nothing was changed */
	volatile uint64_t syncs; /* how many have succeeded */
	struct {
		volatile uint64_t inode; /* 0: free */
		volatile int64_t length; /* that was synced */
	} files[FILES];
};

static struct shared *shared;

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv("REDLOCKSIM_FAKETIME");
	if (!path)
		return;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		perror(path);
		_exit(1);
	}
	close(fd);
	__atomic_store_n(&shared, memory, __ATOMIC_RELEASE);
}

/* the wall clock in nanoseconds since 1970 */
static int64_t wall(void)
{
	int64_t before, since, ahead, rate, steps;
	do {
		before = __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST);
		since = __atomic_load_n(&shared->since, __ATOMIC_SEQ_CST);
		ahead = __atomic_load_n(&shared->ahead, __ATOMIC_SEQ_CST);
		rate = __atomic_load_n(&shared->rate, __ATOMIC_SEQ_CST);
		steps = __atomic_load_n(&shared->steps, __ATOMIC_SEQ_CST);
	} while (before % 2 || __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST) != before);
	struct timespec monotonic;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &monotonic);
	int64_t now = (int64_t)monotonic.tv_sec * BILLION + monotonic.tv_nsec, run = now - since;
	return shared->epoch + now + ahead + run / BILLION * rate + run % BILLION * rate / BILLION + steps;
}

int clock_gettime(clockid_t id, struct timespec *to)
{
	if (!shared || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return syscall(SYS_clock_gettime, id, to);
	int64_t t = wall();
	to->tv_sec = t / BILLION;
	to->tv_nsec = t % BILLION;
	return 0;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
	struct timespec now;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	to->tv_sec = now.tv_sec;
	to->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *to)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return (time_t)-1;
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}

static int synced(long call, int fd)
{
	struct stat before;
	int known = fstat(fd, &before) == 0; /* what is written during the call may not be covered by it */
	int r = syscall(call, fd);
	if (r != 0 || !known || !shared)
		return r;
	for (int i = 0; i < FILES; i++) {
		uint64_t inode = shared->files[i].inode;
		if (inode == 0 && __sync_bool_compare_and_swap(&shared->files[i].inode, 0, before.st_ino))
			inode = before.st_ino;
		if (inode == before.st_ino) {
			shared->files[i].length = before.st_size;
			break;
		}
	}
	__sync_fetch_and_add(&shared->syncs, 1);
	return r;
}

int fsync(int fd) { return synced(SYS_fsync, fd); }
int fdatasync(int fd) { return synced(SYS_fdatasync, fd); }
