ALTER TABLE `brandings` ADD `domain_mac` text;--> statement-breakpoint
CREATE UNIQUE INDEX `brandings_proved_domain` ON `brandings` (`domain`) WHERE domain_proved_at is not null;