package rules

import "redlocksim/checker"

// Table has all rules. docs/checker.md is made of it.
var Table = []Rule{
	{"commands", checker.Conduct, "a command that a client sends for a lock", `
Nobody deletes or changes a key with another client's value, and no extend shortens the life of a key. A client that has begun
to release a vote no longer extends it. It sends the release to every node on which it set the key, within the node timeout for
each node and one more, and again if it hears in time of a vote that was cast after the release had passed; unless it crashes
or is paused. A command that sets or extends a key is sent before the client stops waiting for its answer, names only keys that
the protocol declares (for a lock of your own: keys that contain the name of a resource), does not go to a replica that was
never a master, and is not one too many where the file says how many the run needs (expect.commands). A script stands for the
commands that it calls. What counts is the order of sending.`, watchCommands},
	{"joint-changes", checker.Conduct, "a message that changed keys of a lock on several resources", `
A node sets, extends and deletes the keys of a lock on several resources together. (*redlock*, without replicas.)`, watchJoint},
	{"returned-calls", checker.Contract, "what a call about a lease returned, and what the nodes hold", `
A lease lasts no longer than its votes: when an acquire or extend returns, a quorum of nodes has been asked to keep every key
for at least as long, in true time. Keys count as they were when their deadlines were set, even if the node has restarted
since, which a quorum larger than the majority allows for. A successful extend makes the lease last for the TTL from the call
on, less the drift allowance, and never moves its end back. When a release succeeds, a quorum has deleted every key. A lease
names what was asked for, and no two have the same value. (Leases that nodes vote for; without replicas.)`, watchVotes},
	{"replicated", checker.Contract, "a lock that replicas have confirmed", `
If a client is told that replicas have confirmed its lock, that many have acknowledged it. (*one-redis* with replicas, until a
failover or until a node stops.)`, watchReplicas},
	{"other-calls", checker.Contract, "what a call of another lock returned, and what the nodes did", `
A successful extend has set the key's time anew on as many nodes as the lock needs, or the service still has the lease. What is
released was there before, unless a message was not answered. A lost lease is on too few nodes, or not with the service, unless
it has run out; if a release reports the loss, it has removed the key from too few. Only an acquire finds a lock taken, and a
context is the reason only if it has ended. (All locks but *redlock*.)`, watchOthers},
	{"lease-contexts", checker.Contract, "the context of a lease that was released, or whose time has come", `
The context of a lease has ended once the lease has, as soon as the client runs; when a release returns; and when an extend
says that the lease is lost. It ends before the lease by as much as was set, or by a twentieth of the TTL that the lease was
granted or last extended with, from a millisecond to a second, but never by more than half of what was left. Its cause is lost,
or released if somebody called the release. Time is the client's monotonic clock. (*redlock*; the cause: all locks whose leases
end a context.)`, watchEnds},
	{"beliefs", checker.Contract, "a belief that ran out, and the end of its lease", `
A client's belief, by which it is judged, ends when its lock clock reads the end of the lease. (All locks, where code takes no
time.)`, watchBelieved},
	{"errors", checker.Contract, "an error of the library, and what it says", `
The error of a call is about this call and its resources, and says why. It names a cause only if that is true: the context's,
if it has ended; a closed client, if somebody closed it; no token left, if a counter has or had nearly the largest; any other,
if the client had no random bytes meanwhile. A call that waits says why it gave up. A release in the context of its own lease
goes on if that ended only with the lease. (*redlock*.)`, watchErrors},
	{"works", checker.Contract, "work under a lock, and what its call returned", `
Hold and Renew return the error of the work, the loss of the lease if it was lost before the work returned, and the error of
the release, and nothing else. The context of the work ends with that of the lease and with that of the call, and not before.
(*redlock*.)`, watchWorks},
	{"refusals", checker.Contract, "a call that had to be refused, and what came of it", `
A call that must be refused returns the documented error and does nothing: it takes no time, draws no random bytes, reports no
step, sends no command, and leaves its lease as it is. Such calls are those of a closed client or about a released lease, and
acquires and extends in a context that has ended. A release in such a context returns its error as well but goes on, and Close
fails only if its context ends. No attempt and no extend begins once Close was called, and no vote is asked for after it
returned. (*redlock*.)`, watchRefusals},
	{"returns", checker.Contract, "a call that is to return within a time", `
A call returns at once when its context ends, and Hold stops waiting for the lock when its wait is over. TryLock takes at most
one node timeout, or two with fencing; Extend and Unlock one; PrepareGuard two. When its work returns, Renew returns at once,
and Hold within a node timeout. Close, and the acquires that are under way then, return within three node timeouts, or four
with fencing; later acquires at once. A release during a Close starts its time anew, and so does a pause. With step-time,
sixteen of the longest steps for each node and two more are added for each call under way. (*redlock*.)`, watchReturns},
	{"tokens", checker.Contract, "a grant with a fencing token, and what the nodes' counters say", `
Every change of a fencing counter raises it, to at most 2^53-1, and a quorum of nodes has stored the token of a grant.
(*redlock*.)`, watchTokens},
	{"guarded-votes", checker.Contract, "a vote of a node under the restart guard", `
A node votes only while it is fit: it has the guard's record of its own run, with the largest TTL that clients have, and no
quarantine. The call that declares the nodes fit succeeds only if each was fit at some time meanwhile, and otherwise
its error has what became of every node. If all were in order it succeeds, or else is *needlessly-unavailable*. (*redlock*, without
replicas.)`, watchGuard},
	{"permits", checker.Contract, "a call for a permit of a semaphore, what it asked for and what it returned", `
A call for a permit asks only for permits that its client does not have, only for as long as it was called for, and for none
once it has one (*conduct*). A look that ends without one has asked for every permit that the client does not hold, and a
waiting call looks at least once in two of the longest retry delays (*needlessly-unavailable*). The call succeeds if an attempt
was granted, and else says why not, about the semaphore. A call for all permits asks first for the lock that only such calls
take, works only while it has everything, stops its work only for a loss and for the end of the call, renews nothing after
that, and leaves nothing behind. (*redlock*.)`, watchPermits},
	{"program-releases", checker.Contract, "what a lock program says of a release", `
What a [lock program](lock-programs.md) answers agrees with its keys, on a majority of all nodes, or on one. If it refuses the
lock, it has set no key in that call, or removes it within a second. After a successful release no key is left that was there
before, and the release has removed one, unless an answer was missing. A release that is refused has not removed the key
itself. A lease lasts no longer than its keys, as they were when their deadlines were set (that is excused); if the program
renews it, it reports the loss within a node timeout. A failed acquire has asked for the removal of every key that it set,
within two node timeouts for each node and one more, and a second (*leftover*). No lease is already over when it is granted,
extended or renewed, by what the program itself says, on any tier. (Without replicas.)`, watchPrograms},
	{"specified-steps", checker.Refinement, "a step of the library, and what the specification allows", `
The library takes only steps that [the specification of Redlock](../checker/spec) allows, and leaves out none that it asks for:
what an attempt, a lease and a caller may do next, what makes a quorum and a validity, in which order the callers of a client
are served, how long they wait, and what every field of a step says. The specification is written from the paper and the
[guarantees](guarantees.md), not from the library. (*redlock*.)`, watchRefinement},
	{"protected", checker.Unprotected, "the nodes' keys, while a client believes in its lock", `
While a client believes in its lock, no quorum of nodes would grant it to another: from the return of its acquire until it
calls release, crashes, is told of the loss, or reads the last acknowledged expiry. A node would grant it if it runs, has no
key of the lock with any value and no fencing counter that votes have not raised, and is fit under the restart guard. The
finding counts once it is confirmed: the run is repeated up to that moment, and another client, whose messages take no time,
tries. If that is refused, the rule is wrong, and the run ends with an internal error. A quorum has mostly lost the first
client's keys before two clients hold a lock, so this counts only where it stands alone. (Locks on Redis, without replicas.)`, watchUnprotected},
	{"let-go", checker.Leftover, "a vote of which its client had let go, when it should be gone", `
A key is gone soon after its client has let go of it: when an attempt has failed, a release has begun, or the client has
neither a call under way for the resource nor a lease with this value. Soon is 2.5 node timeouts with *redlock*, and a node
timeout for each node and two more for others. By then at the latest it has a time to live, and never a longer one than was
asked for. Judged are keys whose client and node were up all the time, and whose messages were answered in time. (Without
replicas; for a lock of your own, if it declares its keys.)`, watchLeftover},
	{"in-the-clear", checker.NeedlesslyUnavailable, "somebody asked while nothing was in the way", `
A try-lock succeeds if nobody else asks for any of its resources meanwhile and nothing is in the way, and of those who wait one is
granted the lock within a bound: [what that takes](#needlessly-unavailable). (*redlock*, *redlock-plain*, and *single*, *get-set*,
*setnx-expire* and *failover* on a node without replicas.)`, watchNeedless},
	{"pauses", checker.BusyWait, "a request of a client that waits for a lock", `
A client that waits for a lock sends no more than a hundred requests to a node without a pause of a millisecond. How long a
lock should pause is not judged. A client pauses when it neither sends nor hears anything, is told something that it did not
ask for, or, in scenario files, is refused a connection. On tier live the proxies count what a lock program sends within a
hundred milliseconds. (All locks; the library only if its own delays are shorter than that.)`, watchBusyWaits},
}
