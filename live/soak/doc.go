// Package soak lets many clients take locks on redis-server processes for minutes, while faults are injected at random within
// what the settings allow. [Run] does that; no scenario says what happens. The processes, the time and the faults are those of
// package live.
//
// A program that uses Run must call Client of package live when it is started as [Options].Client says.
package soak
