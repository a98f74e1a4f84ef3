package redisnode

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

var (
	//go:embed needs.lua
	needsSource string
	//go:embed line.lua
	lineSource string
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
type script struct{ source, sha any } // strings, as arguments of a command

var scripts = [batch.NumScripts]script{
	batch.Acquire:  newScript(needsSource + limits + lineSource + acquireSource),
	batch.Vote:     newScript(needsSource + guardSource + limits + lineSource + voteSource),
	batch.Extend:   newScript(extendSource),
	batch.Release:  newScript(limits + lineSource + releaseSource),
	batch.Prepare:  newScript(prepareSource),
	batch.Votes:    newScript(needsSource + guardSource + votesSource),
	batch.Releases: newScript(releasesSource),
}

// limits are those of lines, for line.lua.
var limits = fmt.Sprintf("local lineTTL, mostInLine = %d, %d\n", driver.LineTTL.Milliseconds(), driver.MostInLine)

func newScript(source string) script {
	sum := sha1.Sum([]byte(source))
	return script{source: source, sha: hex.EncodeToString(sum[:])}
}

// call adds to the arguments of a command the one that runs the request's script, and which script.
func call(args []any, r *batch.Request) []any {
	s := &scripts[r.Script]
	if r.InFull {
		return append(args, "eval", s.source)
	}
	return append(args, "evalsha", s.sha)
}

// OpOf is the operation that one of the scripts carries out, if the source is that of one.
func OpOf(source string) (op driver.Op, is bool) {
	ops := [batch.NumScripts]driver.Op{batch.Acquire: driver.OpAcquire, batch.Vote: driver.OpAcquire, batch.Votes: driver.OpAcquire,
		batch.Extend: driver.OpExtend, batch.Release: driver.OpRelease, batch.Releases: driver.OpRelease, batch.Prepare: driver.OpPrepare}
	for i := range scripts {
		if scripts[i].source == source {
			return ops[i], true
		}
	}
	return 0, false
}
