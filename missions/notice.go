package missions

import "context"

// Notice is one line of progress, or a figure of it.
type Notice struct {
	Text  string `json:"text"`            // what is being done or waited for
	Done  int64  `json:"done,omitempty"`  // of Total, in Unit
	Total int64  `json:"total,omitempty"` // 0: unknown
	Unit  string `json:"unit,omitempty"`  // files, bytes
	// Bytes of TotalBytes is how much of the files' content that is, where it is
	// known.
	Bytes      int64 `json:"bytes,omitempty"`
	TotalBytes int64 `json:"total_bytes,omitempty"`
}

type notifyKey struct{}

// WithNotify returns a context whose calls report progress to fn.
func WithNotify(ctx context.Context, fn func(Notice)) context.Context {
	return context.WithValue(ctx, notifyKey{}, fn)
}

// Notify reports progress to the context's function, if it has one.
func Notify(ctx context.Context, n Notice) {
	if fn, ok := ctx.Value(notifyKey{}).(func(Notice)); ok {
		fn(n)
	}
}
