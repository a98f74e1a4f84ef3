// Preloaded into a program, this gives it the wall clock that a file of two 64-bit numbers describes: a wall clock in
// nanoseconds since the Unix epoch that stands still, and, while that is 0, how many nanoseconds to add to the real one.
// Monotonic clocks are left alone, so that timers go on. The kernel is asked by raw system calls, because these functions
// may run before the C library is ready for anything else.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct { int64_t frozen, offset; } *shared;

__attribute__((constructor)) static void begin(void) {
	const char *file = getenv("REDLOCKSIM_FAKETIME");
	if (!file) return;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		perror(file);
		_exit(1);
	}
	close(fd);
	__atomic_store_n(&shared, memory, __ATOMIC_RELEASE);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
	int failed = syscall(SYS_clock_gettime, clock, t);
	if (failed || !shared || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
	int64_t now = __atomic_load_n(&shared->frozen, __ATOMIC_ACQUIRE);
	if (!now) now = t->tv_sec * 1000000000LL + t->tv_nsec + __atomic_load_n(&shared->offset, __ATOMIC_ACQUIRE);
	t->tv_sec = now / 1000000000;
	t->tv_nsec = now % 1000000000;
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	(void)zone;
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t) {
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
	if (t) *t = now.tv_sec;
	return now.tv_sec;
}
