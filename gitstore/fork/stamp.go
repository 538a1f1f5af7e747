package fork

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Offsets in an entry of an index of version 2 or 3, see gitformat-index(5).
const (
	indexHeader   = 12
	entryMode     = 24
	entryID       = 40
	entryFlags    = 60
	entryName     = 62
	flagExtended  = 0x4000
	stageMask     = 0x3000
	flagAssumed   = 0x8000
	extendedSkip  = 0x4000
	extendedITA   = 0x2000
	entryAlign    = 8
	indexChecksum = sha1.Size
)

// stampIndex notes in a new worktree's index which files hold what it says, as
// a checkout does; otherwise the first "git status" would read every file. It
// is left as it is where it is of another version or format than git was told
// to write. It reports whether git has nothing to find out by itself: all
// entries are stamped, or are not as on disk.
func stampIndex(path string, done *written) (whole bool, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	known, unknown := stampEntries(data, done)
	if !known {
		return false, nil
	}
	return unknown == 0, replaceFile(path, data)
}

// replaceFile writes a file of the worktree's entry as git does, so that one
// that has just begun to look sees the old or the new one.
func replaceFile(path string, data []byte) error {
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = lock.Write(data)
	if e := lock.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(path+".lock", path)
	}
	if err != nil {
		_ = os.Remove(path + ".lock")
	}
	return err
}

// stampEntries changes the entries in place and counts those that it knows
// nothing of. It reports false, having changed nothing that is to be kept, for
// an index that it does not understand.
func stampEntries(data []byte, done *written) (known bool, unknown int) {
	if len(data) < indexHeader+indexChecksum || string(data[:4]) != "DIRC" {
		return false, 0
	}
	version := binary.BigEndian.Uint32(data[4:])
	end := len(data) - indexChecksum
	if version != 2 && version != 3 || sha1.Sum(data[:end]) != [sha1.Size]byte(data[end:]) {
		return false, 0
	}
	at, place := indexHeader, &cursor{written: done}
	for range binary.BigEndian.Uint32(data[8:]) {
		next, stamped, ok := stampEntry(data[:end], at, place)
		if !ok {
			return false, 0
		}
		if !stamped {
			unknown++
		}
		at = next
	}
	sum := sha1.Sum(data[:end])
	copy(data[end:], sum[:])
	return true, unknown
}

// stampEntry stamps the entry at an offset and returns the next one's.
func stampEntry(data []byte, at int, done *cursor) (next int, stamped, ok bool) {
	if at+entryName > len(data) {
		return 0, false, false
	}
	entry := data[at:]
	flags := binary.BigEndian.Uint16(entry[entryFlags:])
	name, extended := entryName, uint16(0)
	if flags&flagExtended != 0 {
		if len(entry) < entryName+2 {
			return 0, false, false
		}
		extended = binary.BigEndian.Uint16(entry[entryName:])
		name += 2
	}
	length := bytes.IndexByte(entry[name:], 0)
	if length < 0 {
		return 0, false, false
	}
	size := (name + length + entryAlign) &^ (entryAlign - 1)
	if size > len(entry) {
		return 0, false, false
	}
	if flags&(stageMask|flagAssumed) != 0 || extended&(extendedSkip|extendedITA) != 0 {
		return at + size, true, true // git does not look at the file
	}
	f, st := done.find(entry[name : name+length])
	if st != nil && bytes.Equal(entry[entryID:entryFlags], f.id[:]) && binary.BigEndian.Uint32(entry[entryMode:]) == uint32(f.mode) {
		stamp(entry, st)
		return at + size, true, true
	}
	return at + size, false, true
}

// stamp writes stat data, each value cut to 32 bits as Git does.
func stamp(entry []byte, st *beneath.Stat) {
	const second = 1_000_000_000
	values := []uint32{
		uint32(st.Ctime / second), uint32(st.Ctime % second),
		uint32(st.Mtime / second), uint32(st.Mtime % second),
		uint32(st.Device), uint32(st.Inode),
	}
	for i, v := range values {
		binary.BigEndian.PutUint32(entry[4*i:], v)
	}
	for i, v := range []uint32{st.UID, st.GID, uint32(st.Size)} {
		binary.BigEndian.PutUint32(entry[entryMode+4+4*i:], v)
	}
}
