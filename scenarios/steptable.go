package scenarios

import "time"

func init() {
	stepKinds = []stepShape{
		{kind: LockStep, length: true, fallback: time.Minute, resource: true, is: takes, do: (*program).waits,
			calling: "ttl cancel anyway",
			text:    "Acquires the lock, making attempts for as long as it says. Default: 1m. Example: lock: 10s"},
		{kind: TryLockStep, resource: true, is: takes, do: (*program).tries,
			calling: "ttl within cancel anyway",
			text:    "Makes one attempt to acquire the lock. Example: try-lock"},
		{kind: HoldStep, length: true, underLease: true, resource: true, do: onLock((*held).hold),
			text: "Works under the lock for a while, and stops if the context of the lease ends. Example: hold: 5s"},
		{kind: SleepStep, length: true, do: (*program).sleeps,
			text: "Waits for a while and looks at nothing. Example: sleep: 1s"},
		{kind: LingerStep, underLease: true, resource: true, do: onLock((*held).linger),
			text: "Works under the lock up to the last moment at which the client may still send an effect, its guard " +
				"time before the end of the lease. Example: linger"},
		{kind: WriteStep, underLease: true, resource: true, is: writes, do: reaching((*held).write),
			calling: "released",
			text:    "Checks the lease, then writes to the resource. Example: write"},
		{kind: WriteUncheckedStep, underLease: true, resource: true, is: writes, do: reaching((*held).writeUnchecked),
			calling: "released",
			text:    "Writes to the resource without checking the lease. Example: write-unchecked"},
		{kind: UpdateStep, underLease: true, resource: true, is: reads | writes, do: reaching((*held).update),
			calling: "released",
			text: "Checks the lease, reads the resource, checks again, and writes one more than it read. Example: " +
				"update"},
		{kind: ReadStep, underLease: true, resource: true, is: reads, do: reaching((*held).read),
			calling: "released",
			text:    "Checks the lease and reads the resource. Example: read"},
		{kind: WriteBackStep, underLease: true, resource: true, is: writes, do: reaching((*held).writeBack),
			calling: "released",
			text:    "Checks the lease and writes one more than the last read gave. Example: write-back"},
		{kind: MarkStep, underLease: true, resource: true, is: marks, do: reaching((*held).mark),
			text: "Checks the lease and sets the resource's mark to this grant, for storage compare-and-set. Example: " +
				"mark"},
		{kind: ExtendStep, length: true, underLease: true, resource: true, do: onLock(twice((*held).extend)),
			calling: "within cancel lease-context released twice",
			text:    "Extends the lease to a TTL from now. Example: extend: 10s"},
		{kind: RenewStep, length: true, underLease: true, resource: true, do: onLock((*held).renew),
			calling: "within cancel released period jitter limit max-time meanwhile panics",
			text: "Works under the lock for a while as hold does, and every third of the TTL extends it by the TTL, as " +
				"often as the setting renewals allows. A lock that renews itself is left to do so. Example: renew: 30s"},
		{kind: WithLockStep, length: true, resource: true, is: takes | inOneCall, do: (*program).takesInOneCall,
			calling: "ttl within cancel wait period jitter limit max-time unlocks panics",
			text: "Acquires the lock, or a permit of a semaphore, updates the resource, works for a while as renew " +
				"does, updates again, and releases what it has, in one call (Client.Hold, Semaphore.Hold). Only " +
				"protocol redlock can. Example: with-lock: 5s"},
		{kind: WithAllStep, length: true, resource: true, is: takes | inOneCall, do: (*program).withAll,
			calling: "ttl within cancel wait period jitter limit max-time",
			text: "Takes all permits of a semaphore, as the writer of a read-write lock does, updates each, works for " +
				"a while as renew does, updates each again, and gives them back, in one call (Semaphore.HoldAll). " +
				"Only protocol redlock can. Example: with-all: {resource: pool, for: 5s}"},
		{kind: PrepareStep, do: (*program).prepare,
			calling: "within cancel",
			text:    "Declares the nodes fit to vote, for the restart guard. Example: prepare"},
		{kind: UnlockStep, underLease: true, resource: true, do: onLock(twice((*held).unlock)),
			calling: "within cancel lease-context released twice",
			text:    "Releases the lock. Example: unlock"},
		{kind: CloseStep, do: (*program).close,
			calling: "within cancel",
			text: "Closes the client and so ends those of its goroutines that wait for a lock. Only protocol redlock " +
				"can. Example: close"},
		{kind: NewClientStep, do: (*program).newClient,
			text: "Makes another client in the place of the one before, over the same nodes. Locks that the one before " +
				"has granted stay held. Example: new-client"},
	}
}
