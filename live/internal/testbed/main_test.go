//go:build linux

package testbed

import (
	"os"
	"testing"

	"redlocksim/live/internal/livetest"
)

func TestMain(m *testing.M) { os.Exit(livetest.Main(m)) }
