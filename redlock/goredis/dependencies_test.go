package goredis_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Whoever imports the library and its adapter builds these packages and nothing of the laboratory.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{if .Module}}{{.Module.Path}} {{end}}{{.ImportPath}}{{end}}", "redlocksim/redlock", "redlocksim/redlock/goredis").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours, modules []string
	for line := range strings.Lines(string(out)) {
		switch module, path, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case module == "":
		case module == "redlocksim":
			ours = append(ours, path)
		default:
			modules = append(modules, module)
		}
	}
	slices.Sort(ours)
	if want := []string{"redlocksim/internal/batch", "redlocksim/internal/line", "redlocksim/internal/looks", "redlocksim/internal/printable", "redlocksim/internal/quorum", "redlocksim/internal/redisaddr", "redlocksim/internal/redisnode", "redlocksim/internal/resp", "redlocksim/internal/subscription", "redlocksim/redlock", "redlocksim/redlock/driver", "redlocksim/redlock/goredis", "redlocksim/redlock/observe"}; !slices.Equal(ours, want) {
		t.Errorf("of this module\n%s\nwant\n%s", strings.Join(ours, "\n"), strings.Join(want, "\n"))
	}
	slices.Sort(modules)
	if want := []string{"github.com/cespare/xxhash/v2", "github.com/redis/go-redis/v9", "github.com/shopspring/decimal", "go.uber.org/atomic", "golang.org/x/sys"}; !slices.Equal(slices.Compact(modules), want) {
		t.Errorf("of others\n%s\nwant\n%s", strings.Join(slices.Compact(modules), "\n"), strings.Join(want, "\n"))
	}
}
