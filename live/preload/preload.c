/*
 * Loaded into redis-server before libc: its wall clock can be stepped and made to run fast or slow while it runs, and
 * how much of each file has been fsynced is written down. Both are kept in a file that is mapped into this process and
 * into the one that started it. Redis expires keys by the wall clock. The monotonic clock is left alone: timers go by it,
 * and how long a poll lasts is for the kernel, whose clock is nobody's to change.
 * The system calls are made directly: a wrapper that looked up libc's own function would need memory before the
 * allocator of the server is ready.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FILES 255

struct shared {
	int64_t changes; /* of the next five, so far; odd while they are being changed */
	int64_t since;   /* the reading of CLOCK_MONOTONIC since which the clocks run as they do */
	int64_t ahead;   /* nanoseconds by which they were ahead then */
	int64_t rate;    /* parts per billion by which they have been fast since */
	int64_t steps;   /* nanoseconds by which the wall clock was stepped */
	int64_t lost;    /* not used: a server is not suspended */
	volatile uint64_t syncs; /* how many have succeeded */
	struct {
		volatile uint64_t inode; /* 0: free */
		volatile int64_t length; /* that is on disk for certain */
	} files[FILES];
};

static struct shared *shared;

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv("REDLOCKSIM_LIVE_SHARED");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0)
		return;
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		shared = p;
}

#define BILLION 1000000000

/* nanoseconds by which the wall clock is ahead of the machine's */
static int64_t ahead(void)
{
	int64_t before, since, ahead, rate, steps;
	do {
		before = __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST);
		since = __atomic_load_n(&shared->since, __ATOMIC_SEQ_CST);
		ahead = __atomic_load_n(&shared->ahead, __ATOMIC_SEQ_CST);
		rate = __atomic_load_n(&shared->rate, __ATOMIC_SEQ_CST);
		steps = __atomic_load_n(&shared->steps, __ATOMIC_SEQ_CST);
	} while (before % 2 || __atomic_load_n(&shared->changes, __ATOMIC_SEQ_CST) != before);
	if (rate) {
		struct timespec now;
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
		int64_t run = (int64_t)now.tv_sec * BILLION + now.tv_nsec - since;
		ahead += run / BILLION * rate + run % BILLION * rate / BILLION;
	}
	return ahead + steps;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int r = syscall(SYS_clock_gettime, id, ts);
	if (r == 0 && shared && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		int64_t t = (int64_t)ts->tv_sec * BILLION + ts->tv_nsec + ahead();
		ts->tv_sec = t / BILLION;
		ts->tv_nsec = t % BILLION;
	}
	return r;
}

int gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;
	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *to)
{
	struct timespec ts;
	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return (time_t)-1;
	if (to)
		*to = ts.tv_sec;
	return ts.tv_sec;
}

static int synced(long call, int fd)
{
	struct stat before;
	int known = fstat(fd, &before) == 0; /* what is written while the call lasts may not be covered by it */
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
