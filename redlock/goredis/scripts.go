package goredis

import (
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
)

var (
	//go:embed acquire.lua
	acquireSource string
	//go:embed extend.lua
	extendSource string
	//go:embed release.lua
	releaseSource string
)

// script is a Lua script that answers 1 for yes and 0 for no. Redis runs a script as one atomic operation.
type script struct{ source, sha string }

var (
	acquireScript = newScript(acquireSource)
	extendScript  = newScript(extendSource)
	releaseScript = newScript(releaseSource)
)

func newScript(source string) *script {
	return &script{source: source, sha: redis.NewScript(source).Hash()}
}

func scriptOf(op redlock.Op) *script {
	switch op {
	case redlock.OpAcquire:
		return acquireScript
	case redlock.OpExtend:
		return extendScript
	case redlock.OpRelease:
		return releaseScript
	}
	panic(fmt.Sprintf("goredis: no such operation: %v", op))
}
