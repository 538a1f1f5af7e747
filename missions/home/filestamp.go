package home

import (
	"fmt"
	"os"
	"time"
)

// FileIdentity identifies an open file, whatever its path.
type FileIdentity struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// String tells places of one machine apart.
func (p FileIdentity) String() string { return fmt.Sprintf("%d:%d", p.Device, p.Inode) }

// FileStamp tells whether a file has changed.
type FileStamp struct {
	Size, Mtime, ctime int64
	identity           FileIdentity
}

func StampOf(path string) FileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return FileStamp{}
	}
	return FileStamp{Size: info.Size(), Mtime: info.ModTime().UnixNano(), ctime: ChangeTime(info), identity: IdentityOf(info)}
}

// stampSettleTime is how old a file's newest change must be for another to be seen
// in its stat data, on the coarsest clock of a file system.
const stampSettleTime = 2 * time.Second

// IsSettled reports whether another change of a file that had the stamp before now
// is seen in its stat data.
func (s FileStamp) IsSettled(now time.Time) bool {
	return now.Sub(time.Unix(0, max(s.Mtime, s.ctime))) > stampSettleTime
}
