package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// partsOfResults are the modules on whose versions results can depend.
var partsOfResults = []string{
	"github.com/redis/go-redis/v9", "github.com/alicebob/miniredis/v2", "github.com/anishathalye/porcupine",
	"go.etcd.io/raft/v3", "github.com/shopspring/decimal", "go.yaml.in/yaml/v3",
}

// buildInfo is what the build says of itself; nothing if it says nothing.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// version is the module's version, and the revision that it was built from if the build says.
func version(info *debug.BuildInfo) string {
	text := "unknown version"
	if info.Main.Version != "" {
		text = info.Main.Version
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	revision := set["vcs.revision"]
	if revision == "" {
		return text
	}
	if set["vcs.modified"] == "true" {
		revision += ", modified"
	}
	return fmt.Sprintf("%s (%s)", text, revision)
}

// versions is what --version says.
func versions(info *debug.BuildInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redlocksim %s\n%s %s/%s\n", version(info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, part := range partsOfResults {
		at := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == part })
		if at < 0 {
			continue
		}
		m := info.Deps[at]
		fmt.Fprintf(&b, "%s %s", m.Path, m.Version)
		if m.Replace != nil {
			fmt.Fprintf(&b, " (replaced by %s %s)", m.Replace.Path, m.Replace.Version)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
