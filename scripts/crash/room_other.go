//go:build !linux

package main

import "errors"

// errNoDisk says that no small disk can be made here.
var errNoDisk = errors.New("small disks can be made on Linux alone")

func smallDisk(string) error { return errNoDisk }

func readOnlyDisk(string, bool) error { return errNoDisk }

func dropDisk(string) error { return errNoDisk }
