package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// What a build says of itself is told, and what it does not say is not made up.
func TestVersion(t *testing.T) {
	buildInfo := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision, modified := debug.BuildSetting{Key: "vcs.revision", Value: "abc123"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{&debug.BuildInfo{}, "unknown version"},
		{buildInfo("(devel)"), "(devel)"},
		{buildInfo("v1.2.3", revision), "v1.2.3 (abc123)"},
		{buildInfo("(devel)", revision, modified), "(devel) (abc123, modified)"},
	} {
		if got := version(c.info); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	info := buildInfo("v1.2.3")
	info.Deps = []*debug.Module{
		{Path: "github.com/spf13/cobra", Version: "v1.0.0"},
		{Path: "go.yaml.in/yaml/v3", Version: "v3.0.6", Replace: &debug.Module{Path: "example.org/yaml", Version: "v9.0.0"}},
	}
	text := versions(info)
	if !strings.HasSuffix(text, "\ngo.yaml.in/yaml/v3 v3.0.6 (replaced by example.org/yaml v9.0.0)\n") || strings.Contains(text, "cobra") {
		t.Errorf("%q", text)
	}
}
