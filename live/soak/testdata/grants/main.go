// Command grants is a lock that grants itself to everybody.
package main

import (
	"context"
	"time"

	"redlocksim/lockprogram"
)

func main() {
	lockprogram.Serve(func(lockprogram.Env) (lockprogram.Locker, error) { return grants{}, nil })
}

type grants struct{}

func (grants) About() lockprogram.About { return lockprogram.About{Library: "grants", Version: "1"} }

func (g grants) TryLock(context.Context, string, time.Duration) (lockprogram.Lease, error) {
	return g, nil
}

func (grants) Unlock(context.Context) error { return nil }
