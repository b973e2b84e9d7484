#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes ./configure and what it needs; run once in a fresh checkout.
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
    print $to "usage: ./autogen.pl\nMakes ./configure with autoreconf.\n";
    exit $status;
}

sub in_path {
    my ($program) = @_;
    return grep { -x "$_/$program" } split /:/, $ENV{PATH};
}

GetOptions('help|h' => sub { usage(0) }) or usage(2);
usage(2) if @ARGV;

my @missing = map { $_->[1] } grep { !in_path($_->[0]) } @needed;
die "autogen.pl: missing: @missing\nInstall with: apt-get install @missing\n"
    if @missing;

chdir $FindBin::Bin or die "autogen.pl: $FindBin::Bin: $!\n";
exec 'autoreconf', '--force', '--install' or die "autogen.pl: autoreconf: $!\n";
