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
	//go:embed guard.lua
	guardSource string
	//go:embed vote.lua
	voteSource string
	//go:embed votes.lua
	votesSource string
	//go:embed extend.lua
	extendSource string
	//go:embed release.lua
	releaseSource string
	//go:embed releases.lua
	releasesSource string
	//go:embed prepare.lua
	prepareSource string
)

// script is a Lua script that answers 1 for yes and 0 for no, as such or as the first of a list. Redis runs a script as
// one atomic operation.
type script struct {
	source, sha any    // strings, as arguments of a command
	bit         uint32 // which tells it from the others
}

var (
	acquireScript  = newScript(acquireSource, 1<<0)
	voteScript     = newScript(guardSource+voteSource, 1<<1)
	extendScript   = newScript(extendSource, 1<<2)
	releaseScript  = newScript(releaseSource, 1<<3)
	prepareScript  = newScript(prepareSource, 1<<4)
	votesScript    = newScript(guardSource+votesSource, 1<<5)
	releasesScript = newScript(releasesSource, 1<<6)
)

func newScript(source string, bit uint32) *script {
	return &script{source: source, sha: redis.NewScript(source).Hash(), bit: bit}
}

// call adds to the arguments of a command the one that runs the script, and which script: by its hash if it is one of
// those known.
func (s *script) call(args []any, known uint32) []any {
	if known&s.bit != 0 {
		return append(args, "evalsha", s.sha)
	}
	return append(args, "eval", s.source)
}

func scriptOf(c *redlock.Command) *script {
	switch c.Op {
	case redlock.OpAcquire:
		if c.Conditions != nil {
			return voteScript
		}
		return acquireScript
	case redlock.OpExtend:
		return extendScript
	case redlock.OpRelease:
		return releaseScript
	case redlock.OpPrepare:
		return prepareScript
	}
	panic(fmt.Sprintf("goredis: no such operation: %v", c.Op))
}
