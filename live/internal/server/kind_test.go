package server

import (
	"errors"
	"strings"
	"testing"

	"redlocksim/lockprogram/lines"
)

// Whatever server a program may want there is a kind of.
func TestEveryServerHasAKind(t *testing.T) {
	kinds := map[*Kind]lines.Server{}
	for _, s := range lines.Servers() {
		k := KindOf(s)
		if k == nil {
			t.Errorf("%s has no kind", s)
		} else if other, is := kinds[k]; is {
			t.Errorf("%s and %s are one kind", s, other)
		}
		kinds[k] = s
	}
	if KindOf("") != Redis {
		t.Error("a program that names no server has none of Redis")
	}
}

// A server that is not there is told of with how to get it.
func TestNotInstalled(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, k := range []*Kind{Redis, Etcd, Postgres, ZooKeeper} {
		elsewhere := *k
		elsewhere.elsewhere = ""
		_, err := elsewhere.Programs()
		if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "package "+k.debian+",") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}
