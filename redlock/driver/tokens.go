package driver

import "context"

// TokenSource gives fencing tokens that do not come from the nodes, for redlock.WithTokens.
type TokenSource interface {
	// Token returns a positive number that is higher than every number that it has returned before for any of the resources, to
	// any client, and it does so durably: a database's sequence, or the revision of a write to etcd or ZooKeeper. It must not
	// change the resources, and gives up when ctx ends.
	Token(ctx context.Context, resources []string) (int64, error)
}
