package missions

import "encoding/json"

// Index is a cache of what can be read from refs and journal. A nil Index is
// no cache. Keys are ids of immutable things, so an entry is never stale; an
// error means only that the cache does not help. Safe for concurrent use.
type Index interface {
	Get(key string) (json.RawMessage, bool)
	Put(key string, value json.RawMessage)
	// Each calls fn for every entry, in key order, until it returns false.
	// An error says why the cache can't be used.
	Each(fn func(key string, value json.RawMessage) bool) error
	// Reset empties the cache.
	Reset() error
}
