package rueidis

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// ErrOptions matches the error of [NewNode] for options that do not suit a lock.
var ErrOptions = errors.New("rueidis: the options do not suit a lock")

// checkOptions refuses what cannot be set right without another meaning.
func checkOptions(o *rueidis.ClientOption) error {
	var problems []string
	refuse := func(is bool, problem string) {
		if is {
			problems = append(problems, problem)
		}
	}
	refuse(len(o.InitAddress) != 1, "InitAddress: one address, or a key has no majority; make one node for each master")
	refuse(o.Sentinel.MasterSet != "", "no Sentinel.MasterSet: a failover leads to a replica, which may not have the lock")
	refuse(len(o.Standalone.ReplicaAddress) > 0 || o.Standalone.EnableRedirect, "no Standalone: commands could reach another server")
	refuse(o.ReplicaOnly || o.SendToReplicas != nil, "no ReplicaOnly, no SendToReplicas: a replica does not vote")
	refuse(o.ConnLifetime != 0, "no ConnLifetime: rueidis repeats commands whose connection it ends, and SET NX answers no to its own value")
	if problems == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOptions, strings.Join(problems, "; "))
}

// The defaults of a node.
const (
	// dialTimeout is for a connection, and once more for its handshake.
	dialTimeout = time.Second
	// silence is for how long a connection may be silent until the server is asked whether it is there, and for how long it may
	// take to answer that.
	silence = time.Second
	// buffers are two for each connection: a lock's commands are small.
	buffers = 16 << 10
)

// suit sets what a lock needs.
func suit(o *rueidis.ClientOption) {
	o.ForceSingleClient = true
	o.DisableRetry = true
	o.DisableCache = true
	o.PipelineMultiplex = -1
	o.AlwaysPipelining, o.DisableAutoPipelining = true, false
	if o.ClientSetInfo == nil {
		o.ClientSetInfo = rueidis.DisableClientSetInfo
	}
	set(&o.Dialer.Timeout, dialTimeout)
	set(&o.Dialer.KeepAlive, silence)
	set(&o.ConnWriteTimeout, silence)
	set(&o.ReadBufferEachConn, buffers)
	set(&o.WriteBufferEachConn, buffers)
}

// set sets what is not set.
func set[T comparable](option *T, to T) {
	if *option == *new(T) {
		*option = to
	}
}
