//go:build unix

package heldport_test

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"redlocksim/internal/heldport"
)

// A port is free when it has been released, also while other processes are being started, which have its listener for a moment.
func TestReleased(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes for seconds")
	}
	done := make(chan struct{})
	var starting sync.WaitGroup
	for range 8 {
		starting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command(os.Args[0], "-test.run=^$").Run()
				}
			}
		})
	}
	taken := 0
	for range 500 {
		p, err := heldport.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
		p.Release()
		l, err := net.Listen("tcp", p.Addr())
		if err != nil {
			taken++
			continue
		}
		_ = l.Close()
	}
	close(done)
	starting.Wait()
	if taken > 0 {
		t.Errorf("%d of 500 ports were still taken after their release", taken)
	}
}
