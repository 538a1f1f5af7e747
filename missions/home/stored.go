package home

import (
	"fmt"
)

// FileIdentity identifies a directory, whatever its path.
type FileIdentity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// String tells places of one machine apart.
func (p FileIdentity) String() string { return fmt.Sprintf("%d:%d", p.Device, p.Inode) }
