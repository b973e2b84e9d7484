#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes ./configure and what it needs; run once in a fresh checkout. With --graft, puts the components into a
# source tree of Open MPI (build-aux/graft).
use strict;
use warnings;
use FindBin;
use Getopt::Long;

# Debian package of each program that autoreconf stands on.
my @needed = (
    [ autoconf   => 'autoconf' ],
    [ automake   => 'automake' ],
    [ libtoolize => 'libtool' ],
    [ m4         => 'm4' ],
    [ 'pkg-config' => 'pkg-config' ],
);

sub usage {
    my ($status) = @_;
    my $to = $status ? *STDERR : *STDOUT;
    print $to "usage: ./autogen.pl [--graft DIR]\n",
        "Makes ./configure with autoreconf.\n",
        "  --graft DIR  puts the components and their sources into DIR, a source tree of Open MPI\n",
        "               4.1 or 5.0, where its own autogen.pl and configure find them\n";
    exit $status;
}

sub in_path {
    my ($program) = @_;
    return grep { -x "$_/$program" } split /:/, $ENV{PATH};
}

my $tree;
GetOptions('help|h' => sub { usage(0) }, 'graft=s' => \$tree) or usage(2);
usage(2) if @ARGV;
if (defined $tree) {
    exec "$FindBin::Bin/build-aux/graft", $tree or die "autogen.pl: build-aux/graft: $!\n";
}

my @missing = map { $_->[1] } grep { !in_path($_->[0]) } @needed;
if (@missing) {
    chomp(my $install = `"$FindBin::Bin/build-aux/install-line" @missing`);
    die "autogen.pl: missing: @missing\nInstall with: $install\n";
}

chdir $FindBin::Bin or die "autogen.pl: $FindBin::Bin: $!\n";
exec 'autoreconf', '--force', '--install' or die "autogen.pl: autoreconf: $!\n";
