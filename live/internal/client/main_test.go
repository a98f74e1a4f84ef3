//go:build linux

package client

import (
	"os"
	"testing"

	"redlocksim/live/internal/livetest"
)

func TestMain(m *testing.M) { os.Exit(livetest.Main(m)) }
