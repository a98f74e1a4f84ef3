package wire_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain sees that no goroutine outlives its world.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
