ALTER TABLE `authorizations` ADD `credential_tries` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `refused_at` integer;