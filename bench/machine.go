//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is where and with what a page's figures were measured.
type machine struct {
	processor string
	count     int
	system    string
	golang    string
	redis     string
	libraries []string // module and version
	date      string
	load      string // average number of runnable threads in the minute before, which says whether the machine was idle
}

// comparedModules are those whose version the page gives.
var comparedModules = []string{
	"github.com/redis/go-redis/v9", "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock", "github.com/redis/rueidis",
}

func (c *cluster) machine(ctx context.Context) (machine, error) {
	m := machine{count: runtime.NumCPU(), golang: runtime.Version(), date: time.Now().UTC().Format(time.DateOnly)}
	cpu, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m, err
	}
	m.processor = processorOf(cpu)
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return m, err
	}
	m.load, _, _ = strings.Cut(string(load), " ")
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return m, err
	}
	release, _, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), "-") // the rest is whose build it is
	m.system = fmt.Sprintf("%s %s, %s", unix.ByteSliceToString(name.Sysname[:]), release, runtime.GOARCH)
	info, err := c.info(ctx, 0, "server")
	if err != nil {
		return m, err
	}
	m.redis = info["redis_version"]
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return m, fmt.Errorf("the program was built without its modules' versions")
	}
	for _, wanted := range comparedModules {
		for _, module := range build.Deps {
			if module.Path == wanted {
				m.libraries = append(m.libraries, strings.TrimPrefix(wanted, "github.com/")+" "+module.Version)
			}
		}
	}
	return m, nil
}

// processorOf is the model name in the text of /proc/cpuinfo. Some processors give none.
func processorOf(cpuinfo []byte) string {
	for line := range bytes.Lines(cpuinfo) {
		if name, value, found := bytes.Cut(line, []byte(":")); found && string(bytes.TrimSpace(name)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return "processor of unknown model"
}
