#!/usr/bin/perl
# An SMSC on Net::SMPP, whose codec shares no code with ours. It prints events to stdout, a JSON object on each line,
# and reads commands from stdin in the same form. It ends when stdin ends.
use strict;
use warnings;
use Encode qw(encode decode);
use IO::Handle;
use IO::Select;
use JSON::PP;
use Net::SMPP;

my $json = JSON::PP->new->utf8->canonical;
my $port = shift;
my $listener = Net::SMPP->new_listen('127.0.0.1', port => $port) or die "cannot listen: $!";
my $select = IO::Select->new($listener, \*STDIN);
my %names;    # session -> system_id
my %parts;    # text -> its parts so far
my $ids = 0;
my $input = '';

sub say_it { my %said = @_; syswrite STDOUT, $json->encode(\%said) . "\n" }

say_it(event => 'listening');
while (1) {
    for my $ready ($select->can_read) {
        if    ($ready == $listener) { $select->add(scalar $listener->accept) }
        elsif ($ready == \*STDIN)   { read_orders() }
        else                        { read_session($ready) }
    }
}

sub read_orders {
    sysread(STDIN, $input, 65536, length $input) or exit 0;
    deliver($json->decode($1)) while $input =~ s/^(.*)\n//;
}

sub read_session {
    my ($session) = @_;
    my $pdu = $session->read_pdu;
    my $kind = $pdu && $pdu->explain_cmd;
    my @answer = $pdu ? (seq => $pdu->{seq}) : ();
    if ($pdu && $kind =~ /^bind_(transceiver|transmitter)$/) {
        $names{$session} = $pdu->{system_id};
        say_it(event => $kind, map { $_ => $pdu->{$_} } qw(system_id password system_type interface_version));
        my $answer = "${kind}_resp";
        return $session->$answer(@answer, system_id => 'perl');
    }
    return $session->enquire_link_resp(@answer) if $pdu && $kind eq 'enquire_link';
    return submitted($session, $pdu) if $pdu && $kind eq 'submit_sm';
    return say_it(event => $kind, seq => $pdu->{seq}, status => $pdu->{status}) if $pdu && $kind eq 'deliver_sm_resp';
    $session->unbind_resp(@answer) if $pdu && $kind eq 'unbind';
    say_it(event => $kind || 'end', system_id => $names{$session});
    $select->remove($session);
    $session->close;
}

# A phone: it joins the parts of a text, and decodes the text in the alphabet that the coding names.
sub submitted {
    my ($session, $pdu) = @_;
    my $id = sprintf '%010X', ++$ids;
    $session->submit_sm_resp(seq => $pdu->{seq}, message_id => $id);
    my $bytes = length $pdu->{short_message} ? $pdu->{short_message} : $pdu->{message_payload} // '';
    my ($reference, $total, $part) = ($id, 1, 1);
    if ($pdu->{esm_class} & 0x40) {
        my ($length, $kind) = unpack 'CC', $bytes;
        ($reference, $total, $part) = unpack $kind == 8 ? 'x3nCC' : 'x3CCC', $bytes;
        $bytes = substr $bytes, 1 + $length;
    } elsif (defined $pdu->{sar_total_segments}) {
        ($reference, $total, $part) = map { unpack 'n', substr "\0$_", -2 }
            @$pdu{qw(sar_msg_ref_num sar_total_segments sar_segment_seqnum)};
    }
    my $text = $parts{"$pdu->{destination_addr} $reference $total"} ||= {};
    $text->{$part} = { id => $id, bytes => $bytes };
    return if keys %$text < $total;
    my @all = map { $text->{$_} } 1 .. $total;
    my $whole = join '', map { $_->{bytes} } @all;
    say_it(
        event  => 'text',
        via    => $names{$session},
        parts  => $total,
        text   => decode($pdu->{data_coding} == 8 ? 'UTF-16BE' : 'gsm0338', $whole),
        ids    => [map { $_->{id} } @all],
        map { $_ => $pdu->{$_} }
            qw(source_addr_ton source_addr_npi source_addr dest_addr_ton dest_addr_npi destination_addr
               registered_delivery data_coding validity_period),
    );
    receipt($session, $pdu, $_->{id}) for $pdu->{registered_delivery} & 1 ? @all : ();
}

# A receipt in the text form of appendix B, as SMSCs write it. Every second one also has the optional parameters.
sub receipt {
    my ($session, $pdu, $id) = @_;
    my $stat = $pdu->{destination_addr} =~ /13$/ ? 'UNDELIV' : 'DELIVRD';
    my $text = "id:$id sub:001 dlvrd:001 submit date:2611240900 done date:2611240901 stat:$stat err:000 text:";
    my @named = hex($id) % 2 ? () : (receipted_message_id => "$id\0", message_state => $stat eq 'UNDELIV' ? "\x05" : "\x02");
    $session->deliver_sm(
        async => 1, esm_class => 4, short_message => $text, @named,
        source_addr_ton => 1, source_addr_npi => 1, source_addr => $pdu->{destination_addr},
        dest_addr_ton => $pdu->{source_addr_ton}, dest_addr_npi => $pdu->{source_addr_npi},
        destination_addr => $pdu->{source_addr},
    );
}

# A text from a person. Phones keep an escape and its character together (3GPP TS 23.040, 9.2.3.24.1). But they cut
# UCS-2 wherever a part is full, even between the two units of one character.
sub deliver {
    my ($order) = @_;
    my ($session) = grep { ($names{$_} // '') eq $order->{via} } $select->handles;
    my $coding = $order->{alphabet} eq 'ucs2' ? 8 : 0;
    my $bytes = encode($coding ? 'UTF-16BE' : 'gsm0338', $order->{text});
    my $form = $order->{form};
    my $room = $form eq 'one' ? 254 : $coding ? 134 : 153;
    my @pieces = $form eq 'payload' ? ($bytes) : $coding ? $bytes =~ /\G.{1,$room}/gs : $bytes =~ /\G.{1,$room}(?<!\e)/gs;
    my @order = $order->{isReversed} ? reverse 1 .. @pieces : 1 .. @pieces;
    for my $part (@order) {
        my $piece = $pieces[$part - 1];
        my @content = $form eq 'payload' ? (message_payload => $piece)
            : $form eq 'sar' ? (short_message => $piece, sar_msg_ref_num => pack('n', $order->{reference}),
                sar_total_segments => chr @pieces, sar_segment_seqnum => chr $part)
            : $form eq 'udh' ? (esm_class => 0x40, short_message => pack('C*', 5, 0, 3, $order->{reference}, scalar @pieces, $part) . $piece)
            : $form eq 'udh16' ? (esm_class => 0x40, short_message => pack('CCCnCC', 6, 8, 4, $order->{reference}, scalar @pieces, $part) . $piece)
            : (short_message => $piece);
        my $seq = $session->deliver_sm(
            async => 1, data_coding => $coding, @content,
            source_addr_ton => 1, source_addr_npi => 1, source_addr => $order->{from},
            dest_addr_ton => 1, dest_addr_npi => 1, destination_addr => $order->{to},
        );
        say_it(event => 'deliver_sm', seq => $seq);
    }
}
