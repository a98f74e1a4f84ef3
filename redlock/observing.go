package redlock

import (
	"context"

	"redlocksim/redlock/observe"
)

func (cl *claim) observe(e observe.Event) {
	if cl.client.observer == nil {
		return
	}
	e.Resource, e.Value, e.Attempt, e.Call = cl.resource(), cl.value, cl.attempt, cl.call
	cl.client.observer.Observe(cl.ctx, e)
}

// observe tells of a step for which there is no claim yet.
func (c *Client) observe(ctx context.Context, e observe.Event) {
	if c.observer != nil {
		c.observer.Observe(valuesOf(ctx), e)
	}
}
