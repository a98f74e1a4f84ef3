package mutants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// failsTest runs a unit test with the mutant in place. It is an error if that does not build, or is skipped, as without
// redis-server: it says nothing then.
func (m Mutant) failsTest(ctx context.Context, root, dir string, t Test) (bool, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-count=1", "-timeout=2m", "-v", "-run", "^"+t.Name+"$", "./"+t.Package)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	exit := (*exec.ExitError)(nil)
	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("mutants: %s: %w", m.Name, context.Cause(ctx))
	case err != nil && !errors.As(err, &exit):
		return false, fmt.Errorf("mutants: %s: %w", m.Name, err)
	case !bytes.Contains(out, []byte("=== RUN   "+t.Name+"\n")), bytes.Contains(out, []byte("--- SKIP")):
		return false, fmt.Errorf("mutants: %s: %v did not run:\n%s", m.Name, t, strings.TrimSpace(string(out)))
	}
	return err != nil, nil
}
