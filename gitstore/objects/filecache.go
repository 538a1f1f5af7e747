package objects

import (
	"os"
	"sync"
)

// fileCache keeps at most max files open for reading; a file in use is closed
// when its last user is done. The zero value with max set is ready.
type fileCache struct {
	max int

	mu    sync.Mutex
	files map[string]*cachedFile
	tick  uint64
}

type cachedFile struct {
	*os.File
	size    int64
	users   int
	used    uint64
	evicted bool
}

// acquire opens path or shares the open file. The caller calls release once.
func (c *fileCache) acquire(path string) (*cachedFile, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick++
	if f := c.files[path]; f != nil {
		f.users++
		f.used = c.tick
		return f, nil
	}
	f, fi, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	cf := &cachedFile{File: f, size: fi.Size(), users: 1, used: c.tick}
	if c.files == nil {
		c.files = make(map[string]*cachedFile)
	}
	c.files[path] = cf
	for len(c.files) > c.max {
		c.evictOldest()
	}
	return cf, nil
}

func (c *fileCache) evictOldest() {
	var oldest string
	for path, f := range c.files {
		if oldest == "" || f.used < c.files[oldest].used {
			oldest = path
		}
	}
	c.evict(oldest)
}

// evict needs c.mu.
func (c *fileCache) evict(path string) {
	f := c.files[path]
	delete(c.files, path)
	f.evicted = true
	if f.users == 0 {
		f.Close()
	}
}

func (c *fileCache) release(f *cachedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.users--
	if f.users == 0 && f.evicted {
		f.Close()
	}
}

// forget closes path's file once unused, since another file has its name now.
func (c *fileCache) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[path] != nil {
		c.evict(path)
	}
}

func (c *fileCache) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.files {
		c.evict(path)
	}
}
