// Package faketime gives another process clocks that this one changes while it runs, even while it is stopped. The clocks
// are in a file that both processes map.
//
// [New] makes the file. A Go program opens it with [Open] and reads its clocks from it. A program that is not ours, such as
// redis-server, is started with [Clocks.Preload] in its environment: a small C library, which [Build] compiles, then answers
// clock_gettime, gettimeofday and time in place of the C library. Only its wall clock changes: its timers, and the kernel's,
// go by the machine's monotonic clock. The program must be linked dynamically and read its clock through the C library.
//
// The preloaded library also notes how much of each file the process has fsynced, in the same file; [Clocks.CutToSynced]
// then does to a file what a power loss does.
//
// The clocks need Linux.
package faketime

import "errors"

// ErrNoCompiler is what errors.Is finds in the error of [Build] on a machine without a C compiler.
var ErrNoCompiler = errors.New("needs a C compiler (cc), for a library that is loaded into redis-server")
