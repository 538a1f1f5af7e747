package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore/index"
	"github.com/umbra-vcs/umbra/missions"
)

var _ missions.Index = (*cache)(nil)

// cache is the index, which may be shut, lost or made anew at any time. While
// it is shut everything is a miss.
type cache struct {
	dir string
	log *slog.Logger
	low func() error // why nothing may be written now

	mu    sync.Mutex
	index *index.Index
	why   string // what is wrong with it, for people
	bad   bool   // it can't be used, and not only for want of room
}

func openCache(dir string, log *slog.Logger, low func() error) *cache {
	c := &cache{dir: dir, log: log, low: low}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open()
	return c
}

// open opens the index unless the disk is nearly full. The caller holds the
// lock.
func (c *cache) open() {
	if err := c.low(); err != nil {
		c.why, c.bad = "the index is closed: "+err.Error(), false
		return
	}
	opened, rebuilt, err := index.Open(c.dir)
	if err != nil {
		if c.why == "" {
			c.log.Warn("open the index", "error", err)
		}
		c.why, c.bad = fmt.Sprintf("the index can't be used, so listings are slower: %v", err), true
		return
	}
	if rebuilt != nil {
		c.log.Warn("the index was made anew", "why", rebuilt)
	}
	c.index, c.why, c.bad = opened, "", false
}

// mend opens the index if there was no room before, and makes it anew if somebody
// deleted it. On a disk that is nearly full it is left as it is: it is read and
// not written to, and to close it would be to write.
func (c *cache) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.low() != nil {
		return
	}
	if c.index != nil {
		if !c.index.Lost() {
			return
		}
		c.log.Warn("the index was deleted")
		if err := c.index.Close(); err != nil {
			c.log.Warn("close the index", "error", err)
		}
		c.index = nil
	}
	c.open()
}

func (c *cache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.index
	c.index = nil
	if open == nil || c.low() != nil {
		return nil // the process ends; what is not written is in the index's own log
	}
	return open.Close()
}

// rest puts the index in order, for a moment when nobody asks for anything.
func (c *cache) rest() {
	x := c.now()
	if x == nil || c.low() != nil {
		return
	}
	if err := x.Tidy(); err != nil {
		c.log.Warn("rest", "error", err)
	}
}

// now is the open index, nil while it is shut.
func (c *cache) now() *index.Index {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.index
}

// trouble says for people what is wrong with the index, and what to type where
// that helps; "" if nothing is.
func (c *cache) trouble() (why, fix string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bad {
		fix = "umbra doctor --rebuild"
	}
	return c.why, fix
}

// Get implements missions.Index.
func (c *cache) Get(key string) (json.RawMessage, bool) {
	if x := c.now(); x != nil {
		return x.Get(key)
	}
	return nil, false
}

// Put implements missions.Index.
func (c *cache) Put(key string, value json.RawMessage) {
	if x := c.now(); x != nil && c.low() == nil {
		x.Put(key, value)
	}
}

// Each implements missions.Index.
func (c *cache) Each(fn func(key string, value json.RawMessage) bool) error {
	if x := c.now(); x != nil {
		return x.Each(fn)
	}
	if why, fix := c.trouble(); fix != "" {
		return errors.New(why)
	}
	return nil
}

// Reset implements missions.Index. Whatever is in the place of an index that
// can't be used goes.
func (c *cache) Reset() error {
	if x := c.now(); x != nil {
		return x.Reset()
	}
	if _, fix := c.trouble(); fix != "" {
		if err := os.RemoveAll(c.dir); err != nil {
			return err
		}
	}
	c.mend()
	if why, fix := c.trouble(); fix != "" {
		return errors.New(why)
	}
	return nil
}
